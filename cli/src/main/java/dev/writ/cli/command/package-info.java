/** One class for each command. */
package dev.writ.cli.command;
