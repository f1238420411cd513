/** The terminal: styles, tables, progress, text made safe to print. */
package dev.writ.cli.term;
