/** Witnesses and time stamps. */
package dev.writ.cli.command.witness;
