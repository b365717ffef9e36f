"""The tools that only this project needs: its checks, its site, its API reference."""
