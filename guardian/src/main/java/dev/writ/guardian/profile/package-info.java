/** The seeds' rules for requests that surfaces vouch for. */
package dev.writ.guardian.profile;
