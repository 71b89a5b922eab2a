// May this URL be part of the crawl? The bound drawn by the seeds, then the operator's patterns.
import type { Scope, ScopeMode } from "../../schemas/crawl-config.ts";
import { compileGlob, globFault } from "./glob.ts";
import { hostNameOf, registrableDomain } from "./keys.ts";

/** The scope that canonical seed URLs draw. */
export function seedScope(mode: ScopeMode, seedUrls: readonly string[], rules: Scope["rules"]): Scope {
  const hosts = [...new Set(seedUrls.map(hostNameOf))];
  return { mode, hosts, domains: [...new Set(hosts.map(registrableDomain))], rules };
}

/**
 * Why a canonical URL is left out, or undefined. The bound comes first: no include rule reaches beyond it. Of the rules the last
 * that matches wins; a URL that none matches is taken unless there is an include rule.
 */
export function scopeRefusal(scope: Scope, canonicalUrl: string): "scope" | "excluded" | undefined {
  const compiled = compiledOf(scope);
  if (!compiled.covers(canonicalUrl)) return "scope";
  for (const rule of compiled.lastRuleFirst) if (rule.matches(canonicalUrl)) return rule.include ? undefined : "excluded";
  return compiled.includesOnly ? "excluded" : undefined;
}

/** What is wrong with a rule's pattern, or undefined. A pattern that can match no canonical URL at all is a mistake too. */
export function scopeRuleFault(pattern: string): string | undefined {
  const fault = globFault(pattern);
  if (fault !== undefined) return fault;
  const literal = pattern.split("*", 1)[0] ?? "";
  const scheme = ["http://", "https://"].some((start) => start.startsWith(literal) || literal.startsWith(start));
  return scheme ? undefined : "the pattern can match no URL: it begins with neither http://, https:// nor a wildcard";
}

interface CompiledScope {
  covers(canonicalUrl: string): boolean;
  lastRuleFirst: { include: boolean; matches(text: string): boolean }[];
  includesOnly: boolean;
}

const compiledScopes = new WeakMap<Scope, CompiledScope>();

function compiledOf(scope: Scope): CompiledScope {
  let compiled = compiledScopes.get(scope);
  if (compiled === undefined) {
    compiled = {
      covers: coverOf(scope),
      lastRuleFirst: scope.rules
        .map((rule) => ({ include: rule.action === "include", matches: compileGlob(rule.pattern) }))
        .reverse(),
      includesOnly: scope.rules.some((rule) => rule.action === "include"),
    };
    compiledScopes.set(scope, compiled);
  }
  return compiled;
}

function coverOf(scope: Scope): (canonicalUrl: string) => boolean {
  if (scope.mode === "any") return () => true;
  const hosts = new Set(scope.hosts);
  if (scope.mode === "host") return (url) => hosts.has(hostNameOf(url));
  const domains = new Set(scope.domains);
  return (url) => domains.has(registrableDomain(hostNameOf(url)));
}
