/** What a run's journal says of each request, in formats of others (spec/export.md). */
package dev.writ.replay.export;
