/** Main, and the list of commands. */
package dev.writ.cli;
