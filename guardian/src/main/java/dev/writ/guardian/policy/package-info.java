/**
 * Policy: its text, its checks for contradictions, and what it says of tools, roles, budgets and
 * surfaces (spec/policy.md).
 */
package dev.writ.guardian.policy;
