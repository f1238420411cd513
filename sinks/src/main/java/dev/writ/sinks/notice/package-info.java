/** Tells approvers that a request waits for them, and how it ended (spec/notices.md). */
package dev.writ.sinks.notice;
