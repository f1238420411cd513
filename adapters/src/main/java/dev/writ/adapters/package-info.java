/** Tools of Writ for frameworks of agents. */
package dev.writ.adapters;
