/** Effects: asked for, approved, closed, and looked at. */
package dev.writ.cli.command.run;
