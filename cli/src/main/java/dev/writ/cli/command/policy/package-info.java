/** Policy: checked, tried, proposed, put in force. */
package dev.writ.cli.command.policy;
