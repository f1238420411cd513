/** A server: its start, its cells and surfaces, its configuration; and new data directories. */
package dev.writ.cli.command.serve;
