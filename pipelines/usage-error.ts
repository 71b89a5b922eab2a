// What is thrown where a command was not meant as it was given?

/** One line that names the input and what is allowed. */
export class UsageError extends Error {}
