/** This machine and this program: its parts, its clock, its help. */
package dev.writ.cli.command.machine;
