/** Cells of an installation: what there is, where they are, how a gateway joins. */
package dev.writ.cli.command.cells;
