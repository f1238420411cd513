/**
 * Submission, approval and rollout of tools, as events of the system run (spec/tool-governance.md).
 */
package dev.writ.executor.governance;
