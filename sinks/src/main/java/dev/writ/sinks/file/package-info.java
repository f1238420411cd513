/** Records as lines of a file, or as files of a folder. */
package dev.writ.sinks.file;
