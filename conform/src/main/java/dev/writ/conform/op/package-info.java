/** The operations that vectors ask of an implementation. */
package dev.writ.conform.op;
