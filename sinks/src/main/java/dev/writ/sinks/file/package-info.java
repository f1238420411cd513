/** Records as lines of a file. */
package dev.writ.sinks.file;
