/** What {@code writ doctor} finds, mends, and puts into an archive (spec/cli.md). */
package dev.writ.cli.doctor;
