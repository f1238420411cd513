/** Notices for Slack and what takes its incoming webhooks (Mattermost, Rocket.Chat and others). */
package dev.writ.sinks.slack;
