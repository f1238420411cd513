/** Budgets, rates, hours, and limits of runs, requests and storage (spec/policy.md). */
package dev.writ.guardian.policy.limit;
