/** Tools that people write, and their governance. */
package dev.writ.cli.command.tool;
