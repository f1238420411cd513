/** Results of replays for people and CI servers: the page (spec/report.md), and JUnit XML. */
package dev.writ.replay.report;
