/**
 * The kernel: takes requests to receipts, recovers after a crash, applies changes of the system.
 */
package dev.writ.executor;
