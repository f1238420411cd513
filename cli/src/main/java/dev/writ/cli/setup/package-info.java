/** Writes the configurations of agents' clients. */
package dev.writ.cli.setup;
