"""Gemini on Google's own interface: generateContent, at the Gemini API and at Vertex."""
