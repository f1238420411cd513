/**
 * Writes flat tables as files of Apache Parquet, without a library: the only ones that write it are
 * far larger than what is needed here, and bring native code (spec/export.md, 21).
 */
package dev.writ.replay.export.parquet;
