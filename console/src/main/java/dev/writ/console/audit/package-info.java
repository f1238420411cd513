/**
 * Jobs in the background for auditors: runs are verified, replayed, reported and compared by the
 * server (spec/audit-jobs.md).
 */
package dev.writ.console.audit;
