/** What a data directory keeps: checked, deleted, archived, moved. */
package dev.writ.cli.command.storage;
