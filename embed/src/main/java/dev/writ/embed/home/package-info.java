/**
 * An installation on disk: made, opened, wired with drivers and sandbox. Not part of the public
 * API.
 */
package dev.writ.embed.home;
