/** Error codes of clients (GWY-06x). */
package dev.writ.client.error;
