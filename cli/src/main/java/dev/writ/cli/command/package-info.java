/** What commands of several packages share; a command is a class of the package of its subject. */
package dev.writ.cli.command;
