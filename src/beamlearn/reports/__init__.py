"""Pages and figures that show what was learned."""
