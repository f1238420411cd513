/** What others take away or look at: bundles, their verification, replay, reports, audits. */
package dev.writ.cli.command.evidence;
