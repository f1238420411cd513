/** The executor as a process of its own (spec/apart.md). */
package dev.writ.cli.command.executor;
