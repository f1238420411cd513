/**
 * What people and CI servers read of a run: the page (spec/report.md), and results as JUnit XML.
 */
package dev.writ.replay.report;
