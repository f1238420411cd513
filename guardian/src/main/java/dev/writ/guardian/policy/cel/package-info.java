/**
 * Expressions of policy: CEL, with its cost, its variables and its strict logic (spec/policy.md).
 */
package dev.writ.guardian.policy.cel;
