/** Answers coding agents that ask before they use a tool of their own. */
package dev.writ.cli.hook;
