/** Backups of an installation, and putting one back (spec/backup.md). */
package dev.writ.cli.backup;
