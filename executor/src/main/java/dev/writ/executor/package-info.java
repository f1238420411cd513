/**
 * The kernel: judges and executes requests up to the receipt, recovers after a crash, applies
 * changes of the system.
 */
package dev.writ.executor;
