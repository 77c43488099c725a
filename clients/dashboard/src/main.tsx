import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { applyTheme } from './ui/theme.js';
import './styles/base.css';
import './styles/shell.css';
import './styles/board.css';
import './styles/timeline.css';
import './styles/task.css';
import './styles/attention.css';

applyTheme();
const root = document.getElementById('app');
if (root) createRoot(root).render(<App />);
