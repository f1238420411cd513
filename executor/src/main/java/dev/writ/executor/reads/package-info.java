/** Statements in the log about what people read. */
package dev.writ.executor.reads;
