/** Error codes of the executor (EXE). */
package dev.writ.executor.error;
