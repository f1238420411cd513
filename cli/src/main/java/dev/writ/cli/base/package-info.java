/** What a command is given: arguments, session, exit codes, the installation. */
package dev.writ.cli.base;
