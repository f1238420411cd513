/** Limits of the tool engine: classes of resources, calls at a time, quotas (spec/policy.md). */
package dev.writ.guardian.policy.engine;
