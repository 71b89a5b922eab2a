// Where does a connection for this host really go? The rules of --connect-to, as curl's option of that name.
import { compileGlob, globFault } from "./glob.ts";

export interface ConnectTarget {
  /** A name or address; IPv6 without brackets. */
  host: string;
  port: number;
}

export interface ConnectTo {
  /** One line for each rule that cannot be read, which then matches nothing. */
  faults: string[];
  /** The target of the first rule that matches, or undefined: connect to the host itself. IPv6 with or without brackets. */
  target(host: string, port: number): ConnectTarget | undefined;
}

interface Rule {
  matches(text: string): boolean;
  target: ConnectTarget;
}

/** Rules are PATTERN=HOST:PORT, PATTERN a glob over host:port; one without a port matches every port. HOST may be an [IPv6] address. */
export function compileConnectTo(rules: readonly string[]): ConnectTo {
  const faults: string[] = [];
  const compiled: Rule[] = [];
  for (const text of rules) {
    const rule = ruleOf(text);
    if (typeof rule === "string") faults.push(`'${text}': ${rule}`);
    else compiled.push(rule);
  }
  return {
    faults,
    target(host, port) {
      if (compiled.length === 0) return undefined;
      const name = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
      const address = `${name.toLowerCase()}:${port}`;
      return compiled.find((rule) => rule.matches(address))?.target;
    },
  };
}

function ruleOf(text: string): Rule | string {
  const equals = text.lastIndexOf("=");
  if (equals < 0) return "not of the form PATTERN=HOST:PORT";
  const pattern = text.slice(0, equals).toLowerCase();
  const fault = globFault(pattern);
  if (fault !== undefined) return fault;
  const target = targetOf(text.slice(equals + 1));
  if (typeof target === "string") return target;
  const hasPort = pattern.lastIndexOf(":") > pattern.lastIndexOf("]");
  return { matches: compileGlob(hasPort ? pattern : `${pattern}:*`), target };
}

const TARGET = /^(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i;
const PORT_MAX = 65_535;

function targetOf(text: string): ConnectTarget | string {
  const found = TARGET.exec(text);
  if (found === null) return "the target is not HOST:PORT or [IPv6]:PORT";
  const port = Number(found[3]);
  if (port < 1 || port > PORT_MAX) return `the port is not one of 1 to ${PORT_MAX}`;
  return { host: found[1] ?? found[2] ?? "", port };
}
