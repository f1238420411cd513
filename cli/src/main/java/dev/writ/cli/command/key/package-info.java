/** Keys and secrets. */
package dev.writ.cli.command.key;
