/**
 * How long contents are kept, which are sealed, and which reads are recorded (spec/retention.md).
 */
package dev.writ.guardian.policy.retention;
