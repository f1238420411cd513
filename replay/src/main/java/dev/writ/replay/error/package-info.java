/** Error codes of replays and of the report (RPL). */
package dev.writ.replay.error;
