/**
 * How the effects of the seeds' surfaces are read: commands by role, intents to execute
 * (spec/policy.md).
 */
package dev.writ.guardian.policy.seed;
