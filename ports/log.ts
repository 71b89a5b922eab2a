// What is said to people who run it: one structured line at a time.

export const logLevels = ["error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof logLevels)[number];

export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;
