/** What calls a server: agents and owners. */
package dev.writ.client;
