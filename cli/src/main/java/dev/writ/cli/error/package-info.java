/** Error codes of the command line (CLI). */
package dev.writ.cli.error;
